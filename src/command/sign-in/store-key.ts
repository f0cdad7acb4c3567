import { type CommandContext, resultOrFailure } from '../context.ts'
import { type CommandProfile, changeKeyFile, withKeyProfile } from '../key-file.ts'
import { type SignInTarget, serviceClientAt } from './service.ts'

interface OwnKey {
  readonly id: string
  readonly ownerId: string
  readonly mode: string
  readonly expiresAt: string | null
}

/** Stores a new key and revokes the profile's earlier key, at its own address. */
export async function storeKey(
  context: CommandContext,
  { profile, url, earlier }: SignInTarget,
  key: string,
): Promise<OwnKey> {
  const own = resultOrFailure(await serviceClientAt(context, url, { key }).call('keys.current')) as OwnKey
  const kept: CommandProfile = { url, key, keyId: own.id, ownerId: own.ownerId }
  await changeKeyFile(context.io, withKeyProfile(profile, kept))
  if (earlier) await endKey(context, earlier)
  return own
}

/** A key revokes itself. An invalid key is fine, and an unreachable service lets it expire. */
const endKey = async (context: CommandContext, { url, key }: CommandProfile): Promise<void> => {
  await serviceClientAt(context, url, { key })
    .call('keys.revokeCurrent')
    .catch(() => {})
}
