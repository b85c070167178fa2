// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/** A TCP proxy that breaks links in every way in which networks do, in user space and without privileges. */
@NullMarked
package io.keyway.lock.tck.proxy;

import org.jspecify.annotations.NullMarked;
