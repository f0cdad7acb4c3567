/** A figure over the minutes of a soak, and how much of growth is none yet. */
export interface Series {
  readonly name: string
  readonly points: readonly { readonly minute: number; readonly value: number }[]
  readonly bound: Bound
}

export interface Bound {
  /** Both, the growth by the line from the first to the last minute: as a share of the middle, and in the figure's unit. */
  readonly share: number
  readonly least: number
}

export interface Trend {
  readonly name: string
  readonly first: number
  readonly last: number
  readonly perHour: number
  readonly grows: boolean
}

/** Growth counts if its line is this many standard errors steep: chance has it in one of several hundred. */
const STEEP = 3
/** Caches fill and statistics settle in the first part. */
const WARM_UP = 0.25

/** Fits a line by least squares. */
export function trendOf({ name, points, bound }: Series): Trend {
  const settled = points.slice(Math.floor(points.length * WARM_UP))
  const { intercept, slope, error } = lineThrough(settled)
  const minutes = settled.map(({ minute }) => minute)
  const [from = 0, to = 0] = [minutes.at(0), minutes.at(-1)]
  const at = (minute: number) => intercept + slope * minute
  const growth = slope * (to - from)
  const isMuch = growth > bound.least && growth > bound.share * Math.abs(at((from + to) / 2))
  return { name, first: at(from), last: at(to), perHour: slope * 60, grows: isMuch && slope > STEEP * error }
}

export function lineThrough(points: Series['points']) {
  const count = points.length
  const mean = (of: (point: Series['points'][0]) => number) =>
    points.reduce((sum, one) => sum + of(one), 0) / count
  const x = mean(({ minute }) => minute)
  const y = mean(({ value }) => value)
  const spread = points.reduce((sum, { minute }) => sum + (minute - x) ** 2, 0)
  const slope =
    spread > 0 ? points.reduce((sum, { minute, value }) => sum + (minute - x) * (value - y), 0) / spread : 0
  const intercept = y - slope * x
  const rest = points.reduce((sum, { minute, value }) => sum + (value - intercept - slope * minute) ** 2, 0)
  const error = count > 2 && spread > 0 ? Math.sqrt(rest / (count - 2) / spread) : 0
  return { intercept, slope, error }
}
