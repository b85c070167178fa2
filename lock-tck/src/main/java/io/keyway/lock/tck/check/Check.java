// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import io.keyway.lock.Feature;
import io.keyway.lock.tck.Profile;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * An experiment that can refute a rule: a method that takes a check context and throws if the provider broke the rule.
 * Its name says in words what the provider does; a {@link Hint} stands beside it.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Check {
    /** The rules that it can refute, as {@code "LK-301 LK-305"}; the first is the one that it is about. */
    String rules();

    /** Applies only if the provider declares all of these. */
    Feature[] needs() default {};

    /** Applies only if the provider declares none of these: the inverted rule. */
    Feature[] lacks() default {};

    /** What else it requires; without it the check is NOT RUN, or does not apply. */
    Requirement[] requires() default {};

    /** The smallest profile that has it. */
    Profile from() default Profile.QUICK;

    /** On the real clock no other check runs beside it. */
    boolean alone() default false;

    /** The most that {@link #limits} says. */
    int MOST_LIMITS = 3;

    /** How many times the limit of a check ({@code TckConfig.checkLimit}) it may take. */
    int limits() default 1;

    /** For a rule that chance decides: which defect is found how surely. */
    String statistical() default "";
}
