import type { Ports } from '../../../kernel/contract/ports.ts'
import type { bundlePdf } from '../thread.ts'
import type { BundleInput } from './input.ts'

/** Lays a bundle out in a thread: a long one would hold the event loop. */
export const renderBundle = (
  input: BundleInput,
  ownerId: string,
  { threads }: Pick<Ports, 'threads'>,
): Promise<Awaited<ReturnType<typeof bundlePdf>>> =>
  threads.run<typeof bundlePdf>(
    { module: new URL('../thread.ts', import.meta.url), name: 'bundlePdf', owner: ownerId },
    input,
    [],
  )
