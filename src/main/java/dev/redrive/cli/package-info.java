/** What runs from the command line. */
@NullMarked
@CheckReturnValue
package dev.redrive.cli;

import dev.redrive.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
