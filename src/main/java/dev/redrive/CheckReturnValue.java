package dev.redrive;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The result of the annotated method, or of every method in the annotated type or package, has to
 * be used. Error Prone, IntelliJ IDEA and SpotBugs know an annotation of this simple name from any
 * package; our own spares a host one more dependency.
 */
@Documented
@Target({ElementType.METHOD, ElementType.CONSTRUCTOR, ElementType.TYPE, ElementType.PACKAGE})
@Retention(RetentionPolicy.CLASS)
public @interface CheckReturnValue {}
