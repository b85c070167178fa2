// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

/**
 * One operation of a user. A user does one at a time: what comes due earlier waits.
 *
 * @param at real nanoseconds from the start of the world
 * @param client the node
 * @param user the user of that client
 * @param verb what to do; the model knows its verbs
 * @param name the lock's number
 * @param patience nanoseconds after which the user gives up; 0: never
 * @param hold nanoseconds between the grant and the release
 */
record Act(long at, int client, int user, String verb, int name, long patience, long hold) {
    @Override
    public String toString() {
        return "act " + verb + " at " + Nanos.text(at) + " client " + client + " user " + user + " name " + name
                + " wait " + Nanos.text(patience) + " hold " + Nanos.text(hold);
    }

    static Act parse(String line) {
        Words words = new Words(line);
        return new Act(
                words.nanos("at"),
                words.number("client"),
                words.number("user"),
                words.word(1),
                words.number("name"),
                words.nanos("wait"),
                words.nanos("hold"));
    }
}
