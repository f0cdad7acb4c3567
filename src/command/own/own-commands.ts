import type { OwnCommand } from '../context.ts'
import { complete, completion } from './completion.ts'
import { verify } from './verify.ts'
import { version } from './version.ts'

/** The commands beside those of the table, in the order in which the help lists them. */
export const ownCommands: readonly OwnCommand[] = [verify, completion, complete, version]
