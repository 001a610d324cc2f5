package dev.redrive.dispatch;

import java.io.ByteArrayOutputStream;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;

/**
 * Reads the body of an answer up to a limit. Past it the rest is not read but the connection
 * closed, and the body is empty, which no ack is. A limit of 0 reads nothing at all.
 */
final class Answer implements BodySubscriber<Optional<byte[]>> {
  private final CompletableFuture<Optional<byte[]>> body = new CompletableFuture<>();
  private final ByteArrayOutputStream read = new ByteArrayOutputStream();
  private final int limit;
  private Runnable closeConnection = () -> {};

  private Answer(int limit) {
    this.limit = limit;
  }

  /** Reads successes only: of any other answer the status says all. */
  static BodyHandler<Optional<byte[]>> upTo(int limit) {
    return response -> new Answer(response.statusCode() / 100 == 2 ? limit : 0);
  }

  @Override
  public CompletionStage<Optional<byte[]>> getBody() {
    return body;
  }

  @Override
  public void onSubscribe(Flow.Subscription subscription) {
    closeConnection = subscription::cancel;
    if (limit == 0) {
      giveUp();
    } else {
      subscription.request(Long.MAX_VALUE);
    }
  }

  @Override
  public void onNext(List<ByteBuffer> buffers) {
    for (ByteBuffer buffer : buffers) {
      if (read.size() + buffer.remaining() > limit) {
        giveUp();
        return;
      }
      byte[] bytes = new byte[buffer.remaining()];
      buffer.get(bytes);
      read.writeBytes(bytes);
    }
  }

  private void giveUp() {
    closeConnection.run();
    body.complete(Optional.empty());
  }

  @Override
  public void onError(Throwable trouble) {
    body.completeExceptionally(trouble);
  }

  @Override
  public void onComplete() {
    body.complete(Optional.of(read.toByteArray()));
  }
}
