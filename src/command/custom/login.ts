import type { Context, CustomCommand } from '../context.ts'
import { exitCodes } from '../io.ts'
import { keyFilePath } from '../key-file.ts'

const LONGEST_NAME = 100

async function deviceNameOf({ options }: Context): Promise<string> {
  if (typeof options.name === 'string') return options.name
  const { hostname, userInfo } = await import('node:os')
  return `agentpay of ${userInfo().username} on ${hostname()}`.slice(0, LONGEST_NAME)
}

export const login: CustomCommand = {
  name: 'login',
  summary: 'Sign in: a person approves in the browser, with a passkey',
  description:
    'Opens a page of the service, or prints its address, and waits. The key that comes of it is kept in a file that only you can read, under the name of a profile, and is never shown. It may do what the person may, ends after ninety days, and after thirty days without a use. `agentpay logout` revokes it.',
  options: {
    device: {
      type: 'boolean',
      description: 'Sign in by a short code, typed at any other device: for a machine without a browser.',
    },
    url: { type: 'string', value: '<url>', description: 'The address of the service.' },
    'tool-writes': {
      type: 'boolean',
      description:
        'Ask for a key with which assistants change things, and do not only propose them. The page says so before the person approves.',
    },
    name: {
      type: 'string',
      value: '<name>',
      description: 'How the page, and later the list of keys, calls this machine.',
    },
    'no-browser': { type: 'boolean', description: 'Print the address, and open nothing.' },
  },
  examples: [
    'agentpay login',
    'agentpay login --profile work --url https://pay.example.com',
    'agentpay login --device',
    'agentpay login --profile assistant --tool-writes',
  ],
  async run(context) {
    const { targetOf } = await import('../sign-in/service.ts')
    const target = targetOf(context)
    const { storeKey } = await import('../sign-in/store-key.ts')
    const signIn = context.options.device
      ? (await import('../sign-in/device.ts')).signInDevice
      : (await import('../sign-in/pair.ts')).pair
    const wish = {
      deviceName: await deviceNameOf(context),
      ...(context.options['tool-writes'] === true ? { toolWrites: true as const } : {}),
    }
    const key = await signIn(context, target.url, wish)
    const { ownerId, mode, expiresAt } = await storeKey(context, target, key)
    const { profile, url } = target
    if (context.asJson) context.print({ profile, url, ownerId, mode, expiresAt })
    else context.say(`Signed in to ${url} (${ownerId}, ${mode} mode) as the profile ${profile}.`)
    context.note(
      `The key is in ${keyFilePath(context.io)}, and ends ${expiresAt?.slice(0, 10) ?? 'when it is revoked'}.`,
    )
    if (context.env.AGENTPAY_KEY) context.note('AGENTPAY_KEY is set and wins over it, until you unset it.')
    return exitCodes.done
  },
}
