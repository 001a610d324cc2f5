package dev.redrive;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.redrive.ReviewedSql.Statement;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What you review is what runs. After a wanted change of a statement, write the files anew with
 * {@code mvn test -Dtest=ReviewedSqlTest -Dredrive.regenerate=true} and review the difference.
 */
class ReviewedSqlTest {

  @ParameterizedTest
  @EnumSource(Backend.class)
  void everyStatementIsTheReviewedOne(Backend backend) throws IOException {
    Engine engine = backend.engine();
    Map<String, String> rendered = new LinkedHashMap<>();
    for (Statement statement : ReviewedSql.of(engine)) {
      rendered.put(statement.name(), statement.text());
      if (Boolean.getBoolean("redrive.regenerate")) {
        Path file = ReviewedSql.file(engine, statement);
        Files.writeString(file, statement.text(), UTF_8);
      }
    }
    Map<String, String> reviewed = ReviewedSql.files(engine);
    rendered.replaceAll((name, text) -> ReviewedSql.comparable(text));
    reviewed.replaceAll((name, text) -> ReviewedSql.comparable(text));
    assertThat(rendered).containsExactlyInAnyOrderEntriesOf(reviewed);
  }
}
