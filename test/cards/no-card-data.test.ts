import './card-data/search.ts'
