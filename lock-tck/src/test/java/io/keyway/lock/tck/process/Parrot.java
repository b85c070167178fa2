// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.process;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/** Says each line that it is told, with its arguments before; ends with status 7 when told so. */
final class Parrot {
    private Parrot() {}

    public static void main(String[] args) throws IOException {
        System.out.println("ready " + System.getProperty("parrot", "plain"));
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.equals("end")) {
                System.err.println("ending");
                System.exit(7);
            }
            System.out.println(String.join(" ", args) + " " + line);
        }
    }
}
