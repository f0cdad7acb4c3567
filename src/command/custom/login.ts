import type { CommandContext, CustomCommand } from '../context.ts'
import { exitCodes } from '../io.ts'
import { keyFilePath } from '../key-file.ts'

const LONGEST_NAME = 100

async function deviceNameOf({ options }: CommandContext): Promise<string> {
  if (typeof options.name === 'string') return options.name
  const { hostname, userInfo } = await import('node:os')
  return `agentpay of ${userInfo().username} on ${hostname()}`.slice(0, LONGEST_NAME)
}

export const loginCommand: CustomCommand = {
  name: 'login',
  summary: 'Sign in: a person approves in the browser with a passkey',
  description:
    'Opens a page of the service, or prints its address, and waits for the approval. The new key is stored under a profile, in a file that only you can read, and is never shown. It has the rights of the person and expires after ninety days, or after thirty days without use. `agentpay logout` revokes it. In the sandbox of `npm start`, or with AGENTPAY_URL, AGENTPAY_DASHBOARD_SECRET and a test key, the page’s address is a link that signs an owner in, once, within a day.',
  options: {
    device: {
      type: 'boolean',
      description: 'Sign in with a short code typed on another device, for machines without a browser.',
    },
    url: { type: 'string', value: '<url>', description: 'The address of the service.' },
    'tool-writes': {
      type: 'boolean',
      description:
        'Request a key with which assistants can make changes instead of proposing them. The page says so before the person approves.',
    },
    name: {
      type: 'string',
      value: '<name>',
      description: 'Name of this machine on the page and in the list of keys.',
    },
    'no-browser': { type: 'boolean', description: 'Print the address without opening it.' },
  },
  examples: [
    'agentpay login',
    'agentpay login --profile work --url https://pay.example.com',
    'agentpay login --device',
    'agentpay login --profile assistant --tool-writes',
  ],
  async run(context) {
    const { signInTarget: targetOf } = await import('../sign-in/service.ts')
    const target = targetOf(context)
    const { storeKey } = await import('../sign-in/store-key.ts')
    const signIn = context.options.device
      ? (await import('../sign-in/device.ts')).signInByDeviceCode
      : (await import('../sign-in/pair.ts')).signInByPairing
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
      `The key is in ${keyFilePath(context.io)} and expires ${expiresAt?.slice(0, 10) ?? 'when it is revoked'}.`,
    )
    if (context.env.AGENTPAY_KEY)
      context.note('AGENTPAY_KEY is set and overrides it. Unset it to use the profile.')
    return exitCodes.done
  },
}
