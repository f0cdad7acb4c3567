import { openSigner } from '../../../src/app/signer.ts'
import { sealNextPage } from '../../../src/compliance/audit/index.ts'
import { sqlOn } from '../../../src/kernel/database/prepared-sql.ts'
import { openDatabase } from '../../../src/platform/database.ts'
import { openVault } from '../../../src/ports/vault.ts'
import { ENCRYPTION_KEY } from '../harness.ts'

/** Opens another sealer on a test database; each call seals a page and returns whether there may be more. */
export async function openSealer(databaseUrl: string, encryptionKey = ENCRYPTION_KEY) {
  const database = openDatabase(databaseUrl, 2)
  const vault = openVault(encryptionKey, [])
  const signer = await openSigner({ sql: sqlOn(database.pool), vault, onFailure: () => undefined })
  return {
    seal: (most?: number) => sealNextPage({ database, signer }, most),
    signer,
    async close() {
      signer.stop()
      await database.close()
    },
  }
}

/** Seals everything committed, as a relay does within two seconds. */
export async function sealTrail(
  { databaseUrl }: { readonly databaseUrl: string },
  encryptionKey?: string,
): Promise<void> {
  const { seal, close } = await openSealer(databaseUrl, encryptionKey)
  while (await seal()) {}
  await close()
}
