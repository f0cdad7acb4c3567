import { channelCodeContext } from '../../../src/delivery/channels/channel.ts'
import { openVault } from '../../../src/ports/vault.ts'
import { ENCRYPTION_KEY } from '../harness.ts'
import type { Make, WorldService } from './world-passkeys.ts'

/** The code that was sent to the channel of this path. */
export async function aChannelCode(_make: Make, path: string, { sql }: WorldService) {
  const id = path.split('/').at(-2) ?? ''
  const [channel] = await sql<{ code: string }>('select code from channels where id = $1', [id])
  return { code: openVault(ENCRYPTION_KEY).open(String(channel?.code), channelCodeContext(id)) }
}
