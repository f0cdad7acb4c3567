/**
 * Holds a file for this process alone, until it gives it back or dies: the kernel then frees it. Node itself can lock
 * no file, the SQLite in it can. Null where another holds it.
 */
export function lockFile(path: string): { release(): void } | null {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
  const database = new DatabaseSync(path)
  try {
    database.exec('pragma locking_mode = exclusive; begin exclusive')
    return { release: () => database.close() }
  } catch (error) {
    database.close()
    if ((error as { errcode?: number }).errcode === BUSY) return null
    throw error
  }
}

const BUSY = 5
