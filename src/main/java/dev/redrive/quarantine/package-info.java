/**
 * Looks at dead jobs and starts them again at a speed somebody chose. Start at {@link
 * dev.redrive.quarantine.Quarantine}.
 */
@NullMarked
@CheckReturnValue
package dev.redrive.quarantine;

import dev.redrive.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
