import type { ServiceAnswer } from '../calls/caller.ts'
import { resultOrFailure } from '../calls/result.ts'
import type { CommandContext, CustomCommand } from '../context.ts'
import { CommandFailure, exitCodes, usageError } from '../io.ts'
import {
  type CommandProfile,
  changeKeyFile,
  findProfile,
  readKeyFile,
  withoutKeyProfile,
} from '../key-file.ts'

function profileOf({ io, options }: CommandContext): { name: string; profile: CommandProfile } {
  const file = readKeyFile(io)
  const name = typeof options.profile === 'string' ? options.profile : file.current
  const profile = name === null ? undefined : findProfile(file, name)
  if (name !== null && profile) return { name, profile }
  if (typeof options.profile === 'string')
    throw usageError(`There is no profile ${name}. See: agentpay profiles list`)
  throw new CommandFailure(exitCodes.notSignedIn, 'You are not signed in: there is no current profile.')
}

/** A key that is already invalid does not need to be revoked. */
function checkEnded(answer: ServiceAnswer): void {
  if (answer.status !== 401) resultOrFailure(answer)
}

export const logoutCommand: CustomCommand = {
  name: 'logout',
  summary: 'Sign out: revoke the key and delete it',
  options: {
    'forget-only': {
      type: 'boolean',
      description: 'Delete the key without revoking it, for a service that no longer exists.',
    },
  },
  examples: ['agentpay logout', 'agentpay logout --profile work'],
  async run(context) {
    const { name, profile } = profileOf(context)
    const { serviceClientAt: callerAt } = await import('../sign-in/service.ts')
    if (context.options['forget-only'] !== true)
      checkEnded(await callerAt(context, profile.url, profile).call('keys.revokeCurrent'))
    await changeKeyFile(context.io, withoutKeyProfile(name, profile.keyId))
    if (context.asJson) context.print({ profile: name, url: profile.url })
    else context.say(`Signed out of ${profile.url}: the profile ${name} is deleted.`)
    if (context.env.AGENTPAY_KEY) context.note('AGENTPAY_KEY is still set. Unset it, too.')
    return exitCodes.done
  },
}
