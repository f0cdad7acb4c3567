import type { OwnCommand } from '../context.ts'
import { version } from './version.ts'

/** The commands beside those of the table, in the order in which the help lists them. */
export const ownCommands: readonly OwnCommand[] = [version]
