import { join } from 'node:path'
import { filesOnDisk } from '../../adapters/files-on-disk/files-on-disk.ts'
import type { Settings } from '../../platform/settings/settings.ts'
import type { Files } from '../../ports/files.ts'
import type { Vault } from '../../ports/vault.ts'

/** Where files are kept, as the settings choose. */
export const fileStoreOf = ({ filesDir, dataDir }: Settings, vault: Vault): Files =>
  filesOnDisk(filesDir ?? join(dataDir, 'files'), vault)
