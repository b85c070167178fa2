// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.testing;

import java.awt.image.BufferedImage;

/** What a {@link Browser} showed; places are in points from the left and the top. */
public final class Screenshot {
    private static final int ABOUT = 6;

    private final BufferedImage image;

    Screenshot(BufferedImage image) {
        this.image = image;
    }

    /** Its width. */
    public int width() {
        return image.getWidth();
    }

    /** How many points have about that colour, as 0xRRGGBB. */
    public long pixels(int color) {
        long count = 0;
        for (int x = 0; x < image.getWidth(); x++) {
            count += column(x, color);
        }
        return count;
    }

    /** How many points of one column have about that colour. */
    public int column(int x, int color) {
        int count = 0;
        for (int y = 0; y < image.getHeight(); y++) {
            int pixel = image.getRGB(x, y);
            int off = 0;
            for (int shift = 0; shift <= 16; shift += 8) {
                off = Math.max(off, Math.abs((pixel >> shift & 255) - (color >> shift & 255)));
            }
            count += off <= ABOUT ? 1 : 0;
        }
        return count;
    }

    /** The column that has most points of about that colour. */
    public int fullest(int color) {
        int best = 0;
        for (int x = 0; x < image.getWidth(); x++) {
            best = column(x, color) > column(best, color) ? x : best;
        }
        return best;
    }
}
