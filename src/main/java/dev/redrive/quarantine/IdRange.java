package dev.redrive.quarantine;

/**
 * The ids that begin with a prefix, as a range in the order of code points, which both engines keep
 * them in. The end is the prefix with the last code point there is, repeated until it is longer
 * than any id: it is above every id that begins so, and below every other id that is above the
 * prefix.
 *
 * @param from the first, inclusive
 * @param until the end, exclusive
 */
record IdRange(String from, String until) {
  private static final int LONGER_THAN_ANY_ID = 201;
  private static final String LAST = Character.toString(Character.MAX_CODE_POINT);

  static IdRange of(String prefix) {
    int missing = LONGER_THAN_ANY_ID - prefix.codePointCount(0, prefix.length());
    return new IdRange(prefix, prefix + LAST.repeat(missing));
  }
}
