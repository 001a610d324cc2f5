/**
 * Hands claimed work to a handler and stores what came of it. Start at {@link
 * dev.redrive.dispatch.Dispatcher}.
 */
@NullMarked
@CheckReturnValue
package dev.redrive.dispatch;

import dev.redrive.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
