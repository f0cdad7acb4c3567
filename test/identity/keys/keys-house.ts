import { startHouse } from '../../support/harness.ts'

/** One for all that is proved of keys, with two processes. */
export const house = await startHouse()
export const elsewhere = await house.another()
