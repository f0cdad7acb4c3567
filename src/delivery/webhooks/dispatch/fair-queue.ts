import type { Claimed, DueLane } from './claim.ts'

/** How many requests are under way at once: altogether, to one owner's receivers, to one receiver. */
const MOST = { all: 256, owner: 64, lane: 16 }
/** For each of these so many are taken, to have the next ones at hand. */
const AHEAD = 32
/** A receiver that nobody knows anything of; it gets more when it answers soon. */
const FIRST_WIDTH = 4
const SOON_MS = 1_000

/** One subscription as a process serves it just now; there is one while something is held for it. */
export interface Lane {
  readonly id: string
  readonly ownerId: string
  /** How many requests may be under way: more with every quick success, one after a failure. */
  width: number
  underWay: number
  /** Taken, and not begun. */
  readonly ready: Claimed[]
  /** There was more than was taken. */
  more: boolean
}

const newLane = ({ id, ownerId, failing }: DueLane): Lane => ({
  id,
  ownerId,
  width: failing ? 1 : FIRST_WIDTH,
  underWay: 0,
  ready: [],
  more: false,
})

const heldBy = ({ underWay, ready }: Lane): number => underWay + ready.length

/** One at a time where something is wrong. */
const wantedBy = ({ width }: Lane): number => (width === 1 ? 1 : width * AHEAD)

/** What an attempt tells of the receiver: a slow one holds few of the places that all share. */
export function learn(lane: Lane, succeeded: boolean, latencyMs: number | null): void {
  if (!succeeded) lane.width = 1
  else if ((latencyMs ?? 0) > SOON_MS) lane.width = Math.max(1, lane.width >> 1)
  else lane.width = Math.min(MOST.lane, lane.width * 2)
}

export interface Share {
  readonly lane: Lane
  readonly most: number
}

/** Who is served, and in how many places. */
export class Lanes {
  readonly #lanes = new Map<string, Lane>()
  readonly #underWay = new Map<string, number>()
  #all = 0
  #isCrowded = false

  /** Of those for which something is due how many are taken: in equal parts, and no owner gets more than a quarter. */
  allot(due: readonly DueLane[]): Share[] {
    const owners = Map.groupBy(this.#lanes.values(), ({ ownerId }) => ownerId)
    const room = (most: number, among: Iterable<Lane>) =>
      [...among].reduce((left, lane) => left - heldBy(lane), most * AHEAD)
    const left = new Map(due.map(({ ownerId }) => [ownerId, room(MOST.owner, owners.get(ownerId) ?? [])]))
    let leftOfAll = room(MOST.all, this)
    const part = Math.max(1, Math.ceil(leftOfAll / Math.max(1, due.length)))
    this.#isCrowded = false
    return due.flatMap(one => {
      const lane = this.#lanes.get(one.id) ?? newLane(one)
      const leftOfOwner = left.get(one.ownerId) ?? 0
      const wanted = wantedBy(lane) - heldBy(lane)
      const most = Math.min(wanted, part, leftOfOwner, leftOfAll)
      if (wanted > 0 && most <= 0) this.#isCrowded = true
      if (most <= 0) return []
      leftOfAll -= most
      left.set(one.ownerId, leftOfOwner - most)
      return [{ lane, most }]
    })
  }

  [Symbol.iterator](): Iterator<Lane> {
    return this.#lanes.values()
  }

  get(id: string): Lane | undefined {
    return this.#lanes.get(id)
  }

  get underWay(): number {
    return this.#all
  }

  /** Some that want more have got nothing, for want of room. */
  get isCrowded(): boolean {
    return this.#isCrowded
  }

  /** What has been taken for it. */
  add({ lane, most }: Share, taken: readonly Claimed[]): void {
    if (taken.length === 0) return
    this.#lanes.set(lane.id, lane)
    lane.ready.push(...taken)
    lane.more = taken.length === most
  }

  /** The next one that may begin now. */
  next(lane: Lane): Claimed | undefined {
    const ofOwner = this.#underWay.get(lane.ownerId) ?? 0
    if (lane.underWay >= lane.width || this.#all >= MOST.all || ofOwner >= MOST.owner) return undefined
    const claimed = lane.ready.shift()
    if (!claimed) return undefined
    this.#count(lane, 1)
    // To the back of the queue: where all places are taken, those that become free go round.
    if (this.#lanes.delete(lane.id)) this.#lanes.set(lane.id, lane)
    return claimed
  }

  /** Its place is free. */
  ended(lane: Lane): void {
    this.#count(lane, -1)
  }

  /** Whether it is worth asking for more; one for which nothing is held is forgotten. */
  isLow(lane: Lane): boolean {
    const held = heldBy(lane)
    if (held === 0) this.#lanes.delete(lane.id)
    return lane.more && held * 2 <= wantedBy(lane)
  }

  #count(lane: Lane, by: 1 | -1): void {
    lane.underWay += by
    this.#all += by
    const ofOwner = (this.#underWay.get(lane.ownerId) ?? 0) + by
    if (ofOwner > 0) this.#underWay.set(lane.ownerId, ofOwner)
    else this.#underWay.delete(lane.ownerId)
  }
}
