package dev.redrive;

import java.lang.reflect.Method;
import java.util.stream.Stream;
import org.jooq.Condition;
import org.jooq.Select;
import org.jooq.impl.DSL;

/**
 * jOOQ's {@code exists} for every version of it. The type of its parameter is another one since
 * 3.21, where a call compiled against 3.19 does not link; so the methods are found by name.
 *
 * <p>Public for redrive's own packages; of no use to a host.
 */
public final class Exists {
  private static final Method EXISTS = method("exists");
  private static final Method NOT_EXISTS = method("notExists");

  private Exists() {}

  /**
   * Whether a query has at least one row.
   *
   * @param query the query
   * @return the condition
   * @throws IllegalArgumentException if null
   */
  public static Condition exists(Select<?> query) {
    return call(EXISTS, query);
  }

  /**
   * Whether a query has no row.
   *
   * @param query the query
   * @return the condition
   * @throws IllegalArgumentException if null
   */
  public static Condition notExists(Select<?> query) {
    return call(NOT_EXISTS, query);
  }

  private static Method method(String name) {
    return Stream.of(DSL.class.getMethods())
        .filter(method -> method.getName().equals(name))
        .filter(method -> method.getParameterTypes()[0].isAssignableFrom(Select.class))
        .findFirst()
        .orElseThrow(() -> new NoSuchMethodError("DSL." + name + " of this version of jOOQ"));
  }

  private static Condition call(Method method, Select<?> query) {
    try {
      return (Condition) method.invoke(null, Arguments.notNull(query, "query"));
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("DSL." + method.getName() + " cannot be called", e);
    }
  }
}
