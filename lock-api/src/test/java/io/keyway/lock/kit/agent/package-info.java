// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/** Worlds of agents, and the rules that they are held to. */
package io.keyway.lock.kit.agent;
