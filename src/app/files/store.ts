import { join } from 'node:path'
import { filesInBucket } from '../../adapters/files-in-bucket/files-in-bucket.ts'
import { filesOnDisk } from '../../adapters/files-on-disk/files-on-disk.ts'
import { guardedHttp } from '../../adapters/guarded-http/guarded-http.ts'
import type { Settings } from '../../platform/settings/settings.ts'
import type { Files } from '../../ports/files.ts'
import type { Outbound } from '../../ports/outbound.ts'
import type { Vault } from '../../ports/vault.ts'

/** Where files are kept, as the settings choose: in a folder, or in a bucket of an S3-compatible store. */
export function fileStoreOf(settings: Settings, vault: Vault): Files {
  const { filesDir, dataDir, filesUrl, filesBucket, filesRegion, filesAccessKeyId, filesSecretKey } = settings
  if (filesUrl === undefined) return filesOnDisk(filesDir ?? join(dataDir, 'files'), vault)
  const missing = {
    FILES_BUCKET: filesBucket,
    FILES_ACCESS_KEY_ID: filesAccessKeyId,
    FILES_SECRET_KEY: filesSecretKey,
  }
  const [unset] = Object.entries(missing).find(([, value]) => !value) ?? []
  if (unset) throw new Error(`FILES_URL names a store, and ${unset} is not set.`)
  const options = {
    url: filesUrl,
    bucket: String(filesBucket),
    region: filesRegion,
    accessKey: String(filesAccessKeyId),
    secretKey: String(filesSecretKey),
    outbound: wayTo(filesUrl),
  }
  return filesInBucket(options, vault)
}

/** The operator's own store may lie in a private network; nothing else is reached this way. */
function wayTo(url: string): Outbound {
  const guard = guardedHttp({ allow: ['0.0.0.0/0', '::/0'] })
  const { origin } = new URL(url)
  const other = { rule: 'store', message: 'Only the store of files is reached this way.' }
  const isOther = (asked: string): boolean => URL.parse(asked)?.origin !== origin
  return {
    ...guard,
    judge: (asked, options) => (isOther(asked) ? other : guard.judge(asked, options)),
    send: async request => (isOther(request.url) ? { kind: 'refused', ...other } : guard.send(request)),
  }
}
