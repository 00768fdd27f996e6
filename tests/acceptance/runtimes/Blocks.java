// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

class Blocks {
    public static void main(String[] arguments) {
        List<Object> kept = new ArrayList<>();
        for (int i = 0; i < 300; ++i) {
            kept.add(new byte[300_000]);
            kept.add(ByteBuffer.allocateDirect(65_432));
        }
    }
}
