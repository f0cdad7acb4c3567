import type { CallResult } from '../calls/caller.ts'
import { resultOf } from '../calls/result.ts'
import type { Context, CustomCommand } from '../context.ts'
import { CommandFailure, exitCodes, usageError } from '../io.ts'
import { changeKeyFile, type Profile, profileIn, readKeyFile, withoutProfile } from '../key-file.ts'

function profileOf({ io, options }: Context): { name: string; profile: Profile } {
  const file = readKeyFile(io)
  const name = typeof options.profile === 'string' ? options.profile : file.current
  const profile = name === null ? undefined : profileIn(file, name)
  if (name !== null && profile) return { name, profile }
  if (typeof options.profile === 'string') throw usageError(`There is no profile ${name}.`)
  throw new CommandFailure(exitCodes.notSignedIn, 'You are not signed in: there is no current profile.')
}

/** A key that is already invalid does not need to be revoked. */
function checkEnded(answer: CallResult): void {
  if (answer.status !== 401) resultOf(answer)
}

export const logout: CustomCommand = {
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
    const { callerAt } = await import('../sign-in/service.ts')
    if (context.options['forget-only'] !== true)
      checkEnded(await callerAt(context, profile.url, profile.key).call('keys.revokeCurrent'))
    await changeKeyFile(context.io, withoutProfile(name, profile.keyId))
    if (context.asJson) context.print({ profile: name, url: profile.url })
    else context.say(`Signed out of ${profile.url}: the profile ${name} is deleted.`)
    if (context.env.AGENTPAY_KEY) context.note('AGENTPAY_KEY is still set. Unset it, too.')
    return exitCodes.done
  },
}
