// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/** The compatibility kit, run on the native provider in one JVM and on one machine. */
package io.keyway.lock.peer.tck;
