/**
 * Sets redrive up in a Spring Boot application, version 3 or 4: its tables, a {@link
 * dev.redrive.JobQueue} that joins the application's transactions, health and metrics. Nothing here
 * has to be called; the settings are {@link dev.redrive.boot.RedriveProperties}.
 */
@NullMarked
@CheckReturnValue
package dev.redrive.boot;

import dev.redrive.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
