/**
 * Counts what a queue does and how its quarantine stands, for Micrometer. Start at {@link
 * dev.redrive.metrics.QueueMetrics}. Alert rules lie beside it on the class path: {@code
 * alerts.yaml} for Prometheus, {@code alerts-sqlite.sql} and {@code alerts-postgresql.sql} for
 * everything else.
 */
@NullMarked
@CheckReturnValue
package dev.redrive.metrics;

import dev.redrive.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
