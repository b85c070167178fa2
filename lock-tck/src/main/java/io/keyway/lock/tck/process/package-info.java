// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/** Real processes under test: started, talked to line by line, killed, stopped and continued. */
@NullMarked
package io.keyway.lock.tck.process;

import org.jspecify.annotations.NullMarked;
