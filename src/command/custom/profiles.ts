import { didYouMeanText } from '../../values/nearest.ts'
import type { CustomCommand } from '../context.ts'
import { exitCodes, usageError } from '../io.ts'
import { changeKeyFile, findProfile, readKeyFile } from '../key-file.ts'

const noun = 'profiles'

export const listProfilesCommand: CustomCommand = {
  noun,
  name: 'list',
  summary: 'List your profiles',
  description: 'Keys are not shown.',
  async run(context) {
    const { current, profiles } = readKeyFile(context.io)
    const rows = Object.entries(profiles).map(([name, { url, ownerId, keyId }]) => ({
      name,
      current: name === current,
      url,
      ownerId,
      keyId,
    }))
    context.print(rows)
    return exitCodes.done
  },
}

export const useProfileCommand: CustomCommand = {
  noun,
  name: 'use',
  summary: 'Select the current profile',
  arguments: { '<name>': 'The name of the profile.' },
  examples: ['agentpay profiles use work'],
  async run(context) {
    const [name = ''] = context.arguments
    const file = readKeyFile(context.io)
    if (!findProfile(file, name))
      throw usageError(
        `There is no profile ${name}.${didYouMeanText(name, Object.keys(file.profiles))} See: agentpay profiles list`,
      )
    await changeKeyFile(context.io, kept => (findProfile(kept, name) ? { ...kept, current: name } : kept))
    context.say(`The current profile is ${name}: ${findProfile(file, name)?.url}`)
    return exitCodes.done
  },
}
