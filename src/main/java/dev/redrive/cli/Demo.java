package dev.redrive.cli;

/** The first story. */
public final class Demo {
  private Demo() {}

  /** Runs it. */
  public static void main(String[] args) {
    System.out.println("demo");
  }
}
