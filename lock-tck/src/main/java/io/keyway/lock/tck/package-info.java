// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/** The doors of the technology compatibility kit: who has a provider to test begins here. */
@NullMarked
package io.keyway.lock.tck;

import org.jspecify.annotations.NullMarked;
