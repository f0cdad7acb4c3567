/** Work that the tests of the pool give to threads. What is shared with a thread tells what it has done. */
export const double = (value: { of: bigint; at: Date }): { of: bigint; at: Date } => ({
  of: value.of * 2n,
  at: value.at,
})

export function fail(): never {
  throw new Error('it cannot be done')
}

export const variables = (): string[] => Object.keys(process.env)

export function burn(): never {
  for (;;);
}

export function hoard(): number {
  const kept: number[][] = []
  for (;;) kept.push(Array.from({ length: 100_000 }, (_, n) => n))
}

/** Endless pieces: how many have been made, and whether it has ended. */
export async function* count(seen: Int32Array): AsyncGenerator<Uint8Array> {
  try {
    for (;;) {
      Atomics.add(seen, 0, 1)
      yield new Uint8Array(1_000)
    }
  } finally {
    Atomics.store(seen, 1, 1)
  }
}

export async function* copy(_: unknown, pages: AsyncIterable<readonly string[]>): AsyncGenerator<Uint8Array> {
  for await (const page of pages) yield new TextEncoder().encode(page.join(' '))
}
