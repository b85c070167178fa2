// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Notice;
import java.util.List;

/** These members lead, as far as this one knows; an operator should hear of it. */
public record LeadersElected(List<String> leaders) implements Notice {}
