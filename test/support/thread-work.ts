/** Tasks for the tests of the thread pool; they report through shared memory. */
export const double = (value: { of: bigint; at: Date }): { of: bigint; at: Date } => ({
  of: value.of * 2n,
  at: value.at,
})

export function fail(): never {
  throw new Error('it cannot be done')
}

export const environmentNames = (): string[] => Object.keys(process.env)

export function loopForever(): never {
  for (;;);
}

export function exhaustMemory(): number {
  const arrays: number[][] = []
  for (;;) arrays.push(Array.from({ length: 100_000 }, (_, n) => n))
}

/** An endless stream; its counters show how many chunks it has generated, and whether it has ended. */
export async function* count(counters: Int32Array): AsyncGenerator<Uint8Array> {
  try {
    for (;;) {
      Atomics.add(counters, 0, 1)
      yield new Uint8Array(1_000)
    }
  } finally {
    Atomics.store(counters, 1, 1)
  }
}

export async function* copy(_: unknown, pages: AsyncIterable<readonly string[]>): AsyncGenerator<Uint8Array> {
  for await (const page of pages) yield new TextEncoder().encode(page.join(' '))
}

/** Counts its input once `gate` is open, and reports whether all of it arrived. */
export async function* weigh(gate: Int32Array, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  Atomics.wait(gate, 0, 0)
  let [length, sum] = [0, 0]
  try {
    for await (const piece of bytes) {
      length += piece.length
      for (const byte of piece) sum += byte
    }
    yield `${length} bytes, ${sum}`
  } catch (error) {
    yield (error as Error).message
  }
}
