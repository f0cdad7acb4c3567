import { startHouse } from '../../support/harness.ts'

/** One for both: it makes the pages once. */
export const house = await startHouse()
