import { formatMoney, roundCents } from '../../values/money.ts'
import { declaredWithinMinutes, type RiskProfile, type RiskSpend } from './profile.ts'

/** More usual deviations than this are unusual: by chance, fewer than one amount in a thousand deviates so far. */
export const MAX_USUAL_DEVIATIONS = 6
/** Makes the median of deviations comparable with a standard deviation. */
const MEDIAN_TO_STANDARD = 1.4826
/**
 * The smallest deviation, as a share of the usual amount. Otherwise one more cent would be unusual where all
 * amounts are equal.
 */
const MIN_DEVIATION_SHARE = 0.2

const medianOf = (numbers: readonly number[]): number => {
  // A typed array sorts by number, ten times as fast as an array with a comparison.
  const sorted = new Float64Array(numbers).sort()
  const half = sorted.length >> 1
  const [low, high] = [sorted[half - 1] ?? 0, sorted[half] ?? 0]
  return sorted.length % 2 === 1 ? high : (low + high) / 2
}

/** The usual distance of amounts from their median, which a few large amounts do not change. */
const deviationOf = (amounts: readonly number[], usual: number): number =>
  Math.max(
    MEDIAN_TO_STANDARD * medianOf(amounts.map(amount => Math.abs(amount - usual))),
    MIN_DEVIATION_SHARE * usual,
  )

/** Computes the median in SQL, so that the rows of a group never leave the database. */
export const medianSql = (amount: string): string => `percentile_cont(0.5) within group (order by ${amount})`

export const deviationSql = (amount: string, usual: string): string =>
  `greatest(${MEDIAN_TO_STANDARD} * ${medianSql(`abs(${amount} - ${usual})`)}, ${MIN_DEVIATION_SHARE} * ${usual})`

/**
 * The rough middle of each country, in whole degrees north and east: the geographic coordinates of the CIA
 * World Factbook (public domain).
 */
const coordinates = `
AD 42 2 AE 24 54 AF 33 65 AG 17 -62 AI 18 -63 AL 41 20 AM 40 45 AO -12 18 AQ -90 0 AR -34 -64 AS -14 -170 AT 47 13
AU -27 133 AW 12 -70 AX 60 20 AZ 40 47 BA 44 18 BB 13 -60 BD 24 90 BE 51 4 BF 13 -2 BG 43 25 BH 26 51 BI -4 30
BJ 10 2 BL 18 -63 BM 32 -65 BN 4 115 BO -17 -65 BQ 12 -68 BR -10 -55 BS 24 -76 BT 27 90 BV -54 3 BW -22 24 BY 53 28
BZ 17 -89 CA 60 -95 CC -12 97 CD 0 25 CF 7 21 CG -1 15 CH 47 8 CI 8 -5 CK -21 -160 CL -30 -71 CM 6 12 CN 35 105
CO 4 -72 CR 10 -84 CU 22 -80 CV 16 -24 CW 12 -69 CX -10 106 CY 35 33 CZ 50 15 DE 51 9 DJ 12 43 DK 56 10 DM 15 -61
DO 19 -71 DZ 28 3 EC -2 -78 EE 59 26 EG 27 30 EH 25 -14 ER 15 39 ES 40 -4 ET 8 38 FI 64 26 FJ -18 175 FK -52 -59
FM 7 158 FO 62 -7 FR 46 2 GA -1 12 GB 54 -2 GD 12 -62 GE 42 44 GF 4 -53 GG 49 -3 GH 8 -2 GI 36 -5 GL 72 -40 GM 13 -16
GN 11 -10 GP 16 -62 GQ 2 10 GR 39 22 GS -54 -37 GT 16 -90 GU 13 145 GW 12 -15 GY 5 -59 HK 22 114 HM -53 73 HN 15 -86
HR 45 16 HT 19 -72 HU 47 20 ID -5 120 IE 53 -8 IL 32 35 IM 54 -5 IN 20 77 IO -6 72 IQ 33 44 IR 32 53 IS 65 -18
IT 43 13 JE 49 -2 JM 18 -78 JO 31 36 JP 36 138 KE 1 38 KG 41 75 KH 13 105 KI 1 173 KM -12 44 KN 17 -63 KP 40 127
KR 37 128 KW 29 46 KY 20 -80 KZ 48 68 LA 18 105 LB 34 36 LC 14 -61 LI 47 10 LK 7 81 LR 6 -10 LS -30 28 LT 56 24
LU 50 6 LV 57 25 LY 25 17 MA 32 -5 MC 44 7 MD 47 29 ME 42 19 MF 18 -63 MG -20 47 MH 9 168 MK 42 22 ML 17 -4 MM 22 98
MN 46 105 MO 22 114 MP 15 146 MQ 15 -61 MR 20 -12 MS 17 -62 MT 36 15 MU -20 58 MV 3 73 MW -14 34 MX 23 -102 MY 3 113
MZ -18 35 NA -22 17 NC -22 166 NE 16 8 NF -29 168 NG 10 8 NI 13 -85 NL 53 6 NO 62 10 NP 28 84 NR -1 167 NU -19 -170
NZ -41 174 OM 21 57 PA 9 -80 PE -10 -76 PF -15 -140 PG -6 147 PH 13 122 PK 30 70 PL 52 20 PM 47 -56 PN -25 -130
PR 18 -67 PS 32 35 PT 40 -8 PW 8 135 PY -23 -58 QA 26 51 RE -21 56 RO 46 25 RS 44 21 RU 60 100 RW -2 30 SA 25 45
SB -8 159 SC -5 56 SD 15 30 SE 62 15 SG 1 104 SH -16 -6 SI 46 15 SJ 78 20 SK 49 20 SL 9 -12 SM 44 12 SN 14 -14
SO 10 49 SR 4 -56 SS 8 30 ST 1 7 SV 14 -89 SX 18 -63 SY 35 38 SZ -27 32 TC 22 -72 TD 15 19 TF -49 69 TG 8 1 TH 15 100
TJ 39 71 TK -9 -172 TL -9 126 TM 40 60 TN 34 9 TO -20 -175 TR 39 35 TT 11 -61 TV -8 178 TW 24 121 TZ -6 35 UA 49 32
UG 1 32 UM 6 -162 US 38 -97 UY -33 -56 UZ 41 64 VA 42 12 VC 13 -61 VE 8 -66 VG 18 -64 VI 18 -65 VN 16 108 VU -16 167
WF -13 -176 WS -14 -172 YE 15 48 YT -13 45 ZA -29 24 ZM -15 30 ZW -20 30`

interface Point {
  readonly north: number
  readonly east: number
}

const centroids: ReadonlyMap<string, Point> = new Map(
  [...coordinates.matchAll(/([A-Z]{2}) (-?\d+) (-?\d+)/g)].map(([, code, north, east]) => [
    String(code),
    { north: Number(north), east: Number(east) },
  ]),
)

const EARTH_RADIUS_KM = 6_371

const radians = (degrees: number): number => (degrees * Math.PI) / 180

/** In kilometres along the great circle between the middles of two countries; undefined if one of them is unknown. */
export function countryDistanceKm(fromCountry: string, toCountry: string): number | undefined {
  const from = centroids.get(fromCountry)
  const to = centroids.get(toCountry)
  if (!from || !to) return undefined
  const north = radians(to.north - from.north)
  const east = radians(to.east - from.east)
  const haversine =
    Math.sin(north / 2) ** 2 +
    Math.cos(radians(from.north)) * Math.cos(radians(to.north)) * Math.sin(east / 2) ** 2
  return 2 * EARTH_RADIUS_KM * Math.asin(Math.min(1, Math.sqrt(haversine)))
}

export const riskSignalNames = [
  'velocity',
  'amountOutlier',
  'impossibleTravel',
  'newMerchant',
  'oddHour',
] as const
export type RiskSignalName = (typeof riskSignalNames)[number]

export interface VelocityLimit {
  readonly velocityWindowMinutes: number
  readonly velocityCount: number
}

export interface RiskSignalInput {
  readonly spend: RiskSpend
  readonly at: Date
  /** The profile has counted this spend, but not learnt it yet. */
  readonly profile: RiskProfile
  readonly isKnownMerchant: boolean
  readonly velocityLimit: VelocityLimit
}

type Signal = (input: RiskSignalInput) => string | undefined

const velocity: Signal = ({ profile, velocityLimit }) => {
  const { velocityWindowMinutes: window, velocityCount } = velocityLimit
  const declared = declaredWithinMinutes(profile, window)
  if (declared <= velocityCount) return undefined
  return `${declared} spends were declared within ${window} minutes, more than ${velocityCount}.`
}

/** Fewer amounts do not show what is usual. */
const MIN_AMOUNTS = 20

/**
 * Measures by the median and the deviations from it, so that a few large amounts do not make the next one
 * usual. An amount below the median is never unusual.
 */
const amountOutlier: Signal = ({ spend, profile: { amounts } }) => {
  if (amounts.length < MIN_AMOUNTS) return undefined
  const usual = medianOf(amounts)
  const excess = Number(spend.amountCents) - usual
  if (excess <= MAX_USUAL_DEVIATIONS * MIN_DEVIATION_SHARE * usual) return undefined
  if (excess <= MAX_USUAL_DEVIATIONS * deviationOf(amounts, usual)) return undefined
  const usualCents = formatMoney(roundCents(usual))
  return `${formatMoney(spend.amountCents)} is far more than the agent usually spends, ${usualCents}.`
}

/** The speed of an airliner. */
const MAX_KM_PER_HOUR = 900
/** Shorter distances are possible across any border. */
const MIN_KM = 500

const impossibleTravel: Signal = ({ spend, at, profile: { lastCountry, lastAt } }) => {
  if (!lastCountry || !lastAt || !spend.country) return undefined
  const distance = countryDistanceKm(lastCountry, spend.country) ?? 0
  const hours = Math.abs(at.getTime() - lastAt.getTime()) / 3_600_000
  if (distance <= MIN_KM || distance <= MAX_KM_PER_HOUR * hours) return undefined
  const apart = `${Math.floor(hours * 60)} minutes`
  return `${lastCountry} and ${spend.country} are ${Math.round(distance)} km and ${apart} apart.`
}

const newMerchant: Signal = ({ isKnownMerchant }) =>
  isKnownMerchant ? undefined : 'The agent has never paid this merchant.'

/** Fewer spends do not show the usual hours. */
const MIN_SPENDS = 50
/** A time of day is odd if a smaller share of all spends is within an hour of it. */
const RARE_SHARE = 0.01

const oddHour: Signal = ({ at, profile: { hours } }) => {
  const total = hours.reduce((sum, count) => sum + count, 0)
  const present = at.getUTCHours()
  const near = [present + 23, present, present + 1].reduce((sum, hour) => sum + (hours[hour % 24] ?? 0), 0)
  if (total < MIN_SPENDS || near >= RARE_SHARE * total) return undefined
  return `The agent hardly ever spends around ${at.toISOString().slice(11, 16)} UTC.`
}

export const riskSignals: Readonly<Record<RiskSignalName, Signal>> = {
  velocity,
  amountOutlier,
  impossibleTravel,
  newMerchant,
  oddHour,
}
