import type { CustomCommand } from '../context.ts'
import { exitCodes } from '../io.ts'

interface OwnKey {
  readonly id: string
  readonly name: string
  readonly environment: string
  readonly mode: string
  readonly hint: string
  readonly scopes: readonly string[]
  readonly personId: string | null
  readonly expiresAt: string | null
}

export const whoamiCommand: CustomCommand = {
  name: 'whoami',
  summary: 'Show the account and the key in use',
  description: 'The key itself is not shown, only its last four characters.',
  async run(context) {
    const { url, keySource } = context.connection()
    const key = await context.result<OwnKey>('keys.current')
    const customer = await context.call('customers.me')
    const { name = null, id = null } = (customer.status < 400 ? customer.body : {}) as {
      name?: string
      id?: string
    }
    context.print({
      account: name,
      ownerId: id,
      mode: key.mode,
      url,
      signedInBy: keySource ?? null,
      keyId: key.id,
      keyName: key.name,
      hint: key.hint,
      personId: key.personId,
      scopes: key.scopes.length,
      expiresAt: key.expiresAt,
    })
    return exitCodes.done
  },
}
