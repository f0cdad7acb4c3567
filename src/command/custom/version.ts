import type { CustomCommand } from '../context.ts'
import { exitCodes } from '../io.ts'

export const versionCommand: CustomCommand = {
  name: 'version',
  summary: 'Show the version of this command',
  async run(context) {
    const value = context.table.version
    if (context.asJson) context.print({ version: value })
    else context.say(value)
    return exitCodes.done
  },
}
