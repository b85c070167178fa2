// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/** What members and clients wrote down of their events, brought together in one picture. */
@NullMarked
package io.keyway.lock.cli.trace;

import org.jspecify.annotations.NullMarked;
