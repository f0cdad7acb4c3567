import { type Context, resultOf } from '../context.ts'
import { parseUrl } from '../io.ts'
import { changeKeyFile, type Profile, withProfile } from '../key-file.ts'
import { callerAt, type Target } from './service.ts'

interface OwnKey {
  readonly id: string
  readonly ownerId: string
  readonly mode: string
  readonly expiresAt: string | null
}

/** Stores a new key and revokes the profile's earlier key at the same service. */
export async function storeKey(
  context: Context,
  { profile, url, earlier }: Target,
  key: string,
): Promise<OwnKey> {
  const own = resultOf(await callerAt(context, url, key).call('keys.current')) as OwnKey
  const kept: Profile = { url, key, keyId: own.id, ownerId: own.ownerId }
  await changeKeyFile(context.io, withProfile(profile, kept))
  if (earlier && isSameService(earlier.url, url)) await endKey(context, earlier)
  return own
}

const isSameService = (one: string, other: string): boolean =>
  parseUrl(one)?.origin === parseUrl(other)?.origin

/** A key revokes itself. An invalid key is fine, and an unreachable service lets it expire. */
const endKey = async (context: Context, { url, key }: Profile): Promise<void> => {
  await callerAt(context, url, key)
    .call('keys.revokeCurrent')
    .catch(() => {})
}
