// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.history;

import java.util.List;

/**
 * A breach of a rule.
 *
 * @param rule its name
 * @param text what is wrong
 * @param holds the requests that break it; at least one
 */
record Violation(String rule, String text, List<Hold> holds) {}
