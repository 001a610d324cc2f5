/**
 * Hands claimed work to a handler and stores what came of it. Start at {@link
 * dev.redrive.dispatch.Dispatcher}; {@link dev.redrive.dispatch.HttpHandler} is a handler that
 * posts the work to a service.
 */
@NullMarked
@CheckReturnValue
package dev.redrive.dispatch;

import dev.redrive.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
