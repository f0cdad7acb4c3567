import type { PublicKeySet } from '../ports/public-keys.ts'
import {
  type Checkpoint,
  HASH_BYTES,
  hashLeaf,
  openCheckpoint,
  provesConsistency,
  provesInclusion,
  TrailBroken,
  TrailCheck,
} from '../trail/index.ts'
import { type AuditExportHeader, type AuditExportLine, parseAuditExportLine } from './audit-line.ts'
import { splitLines } from './lines.ts'
import { SignatureRejected } from './verify-signed.ts'

/** The export differs from what was sealed. `position` is that of the first wrong entry, if known. */
export class AuditRejected extends SignatureRejected {
  readonly position: number | null

  constructor(message: string, position: number | null = null, cause?: unknown) {
    super(message, { cause })
    this.position = position
  }
}

export interface VerifyAuditOptions {
  /** Your copy of `/.well-known/jwks.json`. Without it, the keys in the export are used. */
  readonly keys?: PublicKeySet
  /** A checkpoint that you have stored. The export must extend the trail of this checkpoint. */
  readonly since?: string
}

export interface VerifiedAudit {
  readonly ownerId: string
  readonly mode: string
  readonly entries: number
  readonly size: number
  /** The number of entries that were purged or not requested. The export contains only their hashes. */
  readonly hidden: number
  readonly checkpoint: string
  readonly since: string | null
  /** True if the keys are your own copy. */
  readonly isWithOwnKeys: boolean
}

/**
 * Proves that an export of the audit trail, as NDJSON, is what was sealed: every entry against its leaf, all
 * leaves against each checkpoint, and against one that you have stored. No network is used. Throws
 * `AuditRejected`, which names the first wrong entry. Memory use does not grow with the export.
 */
export async function verifyAudit(
  content: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>,
  options: VerifyAuditOptions = {},
): Promise<VerifiedAudit> {
  const reader = new ExportReader(options)
  const refused = (message: string) => new AuditRejected(message, reader.position)
  for await (const line of splitLines(content, refused)) rejecting(reader, () => reader.read(line))
  return rejecting(reader, () => reader.end())
}

/** Any error while reading means that the export proves nothing. */
function rejecting<T>({ position }: ExportReader, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof TrailBroken) throw new AuditRejected(error.message, error.position, error)
    if (error instanceof AuditRejected) throw error
    const why = `Entry ${position} is not part of an export: ${(error as Error).message}`
    throw new AuditRejected(why, position, error)
  }
}

class ExportReader {
  readonly #options: VerifyAuditOptions
  #head: AuditExportHeader | undefined
  #check = new TrailCheck('', { keys: [] })
  #since: Checkpoint | undefined
  #isSinceMet = false
  #entries = 0
  #hidden = 0

  constructor(options: VerifyAuditOptions) {
    this.#options = options
  }

  get position(): number {
    return this.#check.tree.size
  }

  read(text: string): void {
    const line = parsed(text, this.#check.tree.size)
    if (!this.#head) this.#begin(line)
    else if (line.type === 'entry') {
      this.#check.entry({ ...line, leaf: hashIn(line.leaf) })
      this.#entries++
      this.#meetSince()
    } else if (line.type === 'hashes') {
      const before = this.#check.tree.size
      if (line.from !== before)
        throw new AuditRejected(
          `Hashes stand for the entries from ${line.from} on, not from ${before}.`,
          before,
        )
      this.#check.hashes(line.to, line.hashes.map(hashIn), () => this.#meetSince())
      this.#hidden += this.#check.tree.size - before
    } else if (line.type === 'checkpoint') this.#check.checkpoint(line.checkpoint)
    else throw new AuditRejected('A second trail begins within the export.', this.#check.tree.size)
  }

  #begin(line: AuditExportLine): void {
    if (line.type !== 'trail' || line.version !== 1)
      throw new AuditRejected('The first line does not say which trail it is.')
    const { keys = line.keys, since } = this.#options
    this.#head = line
    this.#check = new TrailCheck(line.origin, keys)
    this.#since = since === undefined ? undefined : this.#check.opened(since)
    if (line.origin !== `agentpay/audit/${line.ownerId}/${line.mode}`)
      throw new AuditRejected('The first line names two trails.')
  }

  #meetSince(): void {
    if (this.#since?.size !== this.#check.tree.size) return
    this.#check.compare(this.#since)
    this.#isSinceMet = true
  }

  end(): VerifiedAudit {
    const head = this.#head
    if (!head) throw new AuditRejected('The export is empty.')
    const { size } = this.#check.checkpoint(head.checkpoint)
    if (this.#since && !this.#isSinceMet) throw this.#unmet(this.#since, size)
    return {
      ownerId: head.ownerId,
      mode: head.mode,
      entries: this.#entries,
      size,
      hidden: this.#hidden,
      checkpoint: head.checkpoint,
      since: this.#options.since ?? null,
      isWithOwnKeys: this.#options.keys !== undefined,
    }
  }

  #unmet(since: Checkpoint, size: number): AuditRejected {
    return since.size > size
      ? new AuditRejected(`The trail had ${since.size} entries once, and has ${size} now.`, size)
      : new AuditRejected(
          `The export has only hashes around position ${since.size}, so it cannot be compared with the checkpoint of that size: GET /audit/consistency?from=${since.size} proves that the trail has only grown.`,
        )
  }
}

function parsed(text: string, position: number): AuditExportLine {
  try {
    return parseAuditExportLine(text)
  } catch (error) {
    const why = `The line of entry ${position} is no JSON of an export: ${(error as Error).message}`
    throw new AuditRejected(why, position, error)
  }
}

function hashIn(text: unknown): Buffer {
  const bytes = Buffer.from(String(text), 'base64')
  return bytes.length === HASH_BYTES && bytes.toString('base64') === text ? bytes : Buffer.alloc(0)
}

/** A proof as returned by `GET /audit/{id}/proof`. */
export interface AuditProof {
  readonly position: number | null
  readonly leaf: string
  readonly proof: readonly string[]
  readonly checkpoint: string
}

/** Proves that an entry is in the trail of a checkpoint, and returns what was sealed. Texts about people are HMACs. */
export function verifyAuditProof(
  { position, leaf, proof, checkpoint }: AuditProof,
  keys: PublicKeySet,
): Record<string, unknown> {
  const { origin, size, root } = opened(checkpoint, keys)
  const path = { index: position ?? -1, size, leaf: hashLeaf(leaf), proof: proof.map(hashIn) }
  if (!provesInclusion(path, root))
    throw new AuditRejected('The proof does not lead from the entry to the checkpoint.', position)
  const entry = JSON.parse(leaf) as Record<string, unknown>
  if (!origin.endsWith(`/${entry.ownerId}/${entry.mode}`))
    throw new AuditRejected('The entry belongs to another trail.', position)
  return entry
}

/** The answer of `GET /audit/consistency` from the size of an older checkpoint. */
export interface AuditGrowth {
  readonly proof: readonly string[]
  readonly checkpoint: string | null
}

/** Proves that the trail of a newer checkpoint extends the one that you have stored. Returns the newer size. */
export function verifyAuditGrowth(
  kept: string,
  { proof, checkpoint }: AuditGrowth,
  keys: PublicKeySet,
): number {
  const [older, newer] = [opened(kept, keys), opened(checkpoint ?? '', keys)]
  const growth = {
    from: older.size,
    fromRoot: older.root,
    to: newer.size,
    toRoot: newer.root,
    proof: proof.map(hashIn),
  }
  if (older.origin !== newer.origin || !provesConsistency(growth))
    throw new AuditRejected(
      'The trail is not the one of the older checkpoint, grown: what was sealed was changed.',
    )
  return newer.size
}

function opened(note: string, keys: PublicKeySet): Checkpoint {
  try {
    return openCheckpoint(note, keys)
  } catch (error) {
    throw new AuditRejected((error as Error).message, null, error)
  }
}
