import { printLine } from '../../../src/platform/output.ts'
import { wholeNumber } from '../report.ts'
import { onStage, type Stage } from '../stage.ts'

interface Filling {
  readonly what: string
  fill(stage: Stage, size: number): Promise<void>
}

/** Opens a stage for each size at the same time, so that measurements in turn are comparable. */
export async function onSizes<T>(
  folder: string,
  sizes: readonly number[],
  filling: Filling,
  work: (stages: readonly Stage[]) => Promise<T>,
): Promise<T> {
  const [size, ...others] = sizes
  if (size === undefined) return work([])
  const name = `${filling.what.replaceAll(' ', '-')}-${size}`
  return onStage(folder, name, async stage => {
    const began = performance.now()
    await filling.fill(stage, size)
    printLine(`  ${wholeNumber(size)} ${filling.what}, written in ${secondsSince(began).toFixed(0)} s`)
    return onSizes(folder, others, filling, stages => work([stage, ...stages]))
  })
}

export const secondsSince = (began: number): number => (performance.now() - began) / 1_000
