import './card-data/search.ts'
import './card-data/full-run.ts'
