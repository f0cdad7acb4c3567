import { readFileSync, writeFileSync } from 'node:fs'
import { linesOf } from '../../derive/openapi/write.ts'
import { breaksOf, type CalledContract, calledContract } from './breaks.ts'
import { readContract } from './contract.ts'

const file = new URL('../callers.json', import.meta.url)

/** What callers of the last version rely on, as it is committed: one line for each record and operation. */
export const readCalled = (): CalledContract => JSON.parse(readFileSync(file, 'utf8'))

/** Keeps what callers rely on from now on; gives what would break them, and then changes nothing unless told to. */
export function keepCalled(mayBreak: boolean): readonly string[] {
  const now = calledContract(readContract())
  const breaks = mayBreak ? [] : breaksOf(readCalled(), now)
  if (breaks.length === 0) writeFileSync(file, linesOf({ ...now }, { records: 1, operations: 1 }))
  return breaks
}
