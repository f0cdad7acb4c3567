import './evidence/kept.ts'
import './evidence/damaged.ts'
