/**
 * A leased job queue on jOOQ that never erases a failure. Start at {@link dev.redrive.JobQueue}.
 *
 * <p>Nothing here is null unless it says {@code @Nullable}, and every result has to be looked at: a
 * boolean tells whether the call changed the row.
 */
@NullMarked
@CheckReturnValue
package dev.redrive;

import org.jspecify.annotations.NullMarked;
